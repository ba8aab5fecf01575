// Derives a request's outcome from its status and code. Indexes contain this expression (migration 0018), so it must never change.

/** `failed` with a successful status means that the stream broke. */
export const REQUEST_OUTCOME =
  "case when status = 499 then 'abandoned' when status >= 500 then 'failed' when status >= 400 then 'refused' when code is not null then 'failed' else 'succeeded' end";
