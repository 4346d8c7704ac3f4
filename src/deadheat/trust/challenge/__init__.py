"""Competitions: the one who makes a system and the one who scores it are two.

The organiser keeps a folder that nobody else can read; participants submit embeddings, or a command that is run on
inputs which nobody has seen.

    init ──> challenge.json, labels, inputs, secret
    submit: .npz ─────────────────> queue ──┐
            program + command ────> queue ──┴─(sandbox)─> embeddings ──evaluate──> receipt, profile ──> leaderboard

`store` is SQLite and alone knows SQL; `scoring` is the one worker; `site` is the page for participants.
"""
