// A text that no other is equal to: for idempotency keys and the boundaries of forms.
export function uniqueText(): string {
  // Node.js 18 has no `crypto` among its globals, and a page without TLS no `randomUUID`. It is no secret.
  const { crypto } = globalThis as { readonly crypto?: { readonly randomUUID?: () => string } };
  return crypto?.randomUUID?.() ?? [0, 1, 2].map(() => Math.random().toString(36).slice(2)).join("");
}
