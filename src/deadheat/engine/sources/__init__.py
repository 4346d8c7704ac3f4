"""Rankings of others: one file each has the public function that opens them, and counts their tie groups."""
