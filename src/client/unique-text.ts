// Generates a unique text for idempotency keys and multipart boundaries.
export function uniqueText(): string {
  // Node.js 18 has no global `crypto`, and pages without TLS have no `randomUUID`. The text need not be secret.
  const { crypto } = globalThis as { readonly crypto?: { readonly randomUUID?: () => string } };
  return crypto?.randomUUID?.() ?? [0, 1, 2].map(() => Math.random().toString(36).slice(2)).join("");
}
