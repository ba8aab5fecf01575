// Builds a page of a cursor-paginated list. The query reads one row more than the page, which shows whether another page follows.

/** `rows`: up to `limit` + 1. The cursor points to the last row of the page, and is null on the last page. */
export function pageOf<Row extends { readonly id: string }>(
  rows: readonly Row[],
  limit: number,
): { readonly page: readonly Row[]; readonly nextCursor: string | null } {
  const page = rows.slice(0, limit);
  return { page, nextCursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}
