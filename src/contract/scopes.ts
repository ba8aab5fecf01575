// What a key may be allowed to do (contract 2). Endpoints ask for one of the first three; the last opens provider names.
export const SCOPES = ["transcribe", "chat", "jobs", "routing:read"] as const;
export type Scope = (typeof SCOPES)[number];
