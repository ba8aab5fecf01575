// The scopes that an API key can have [keys.scopes]. Endpoints require one of the first three; the last one reveals provider names.
export const SCOPES = ["transcribe", "chat", "jobs", "routing:read"] as const;
export type Scope = (typeof SCOPES)[number];
