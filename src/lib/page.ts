// A page of a list that is read by cursor: one row more than a page holds tells whether another follows.

/** `rows`: up to `limit` + 1 of them. The cursor names the page's last row; null on the last page. */
export function pageOf<Row extends { readonly id: string }>(
  rows: readonly Row[],
  limit: number,
): { readonly page: readonly Row[]; readonly nextCursor: string | null } {
  const page = rows.slice(0, limit);
  return { page, nextCursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}
