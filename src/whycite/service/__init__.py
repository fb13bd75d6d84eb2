"""What long-running interfaces share: the open library, drafts with unsaved files, and full texts at hand."""
