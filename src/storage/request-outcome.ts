// How a request ended, in a word, from its status and code: an expression that its indexes are made of (0018), so it never changes.

/** `failed` with a status of success: its stream broke. */
export const REQUEST_OUTCOME =
  "case when status = 499 then 'abandoned' when status >= 500 then 'failed' when status >= 400 then 'refused' when code is not null then 'failed' else 'succeeded' end";
