"""The language server for editors: findings, actions, completion and evidence at the sentence."""
