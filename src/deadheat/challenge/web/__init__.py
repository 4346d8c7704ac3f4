"""The page of a challenge: leaderboard, upload, a team's own submissions. It reads no label, and serves no file.

browser, curl ──> uploads (limited as they stream) ──> queue      worker (a process of its own)
              <── pages <── the book: state, message, leaderboard <──┘
"""

from deadheat.challenge.web.server import serve

__all__ = ["serve"]
