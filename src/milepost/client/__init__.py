"""The reading SDK: tasks, timelines and a live view that converges by itself."""
