// Prints paginated lists of the API as a table or as one JSON document of the same shape.
import { z } from "zod";
import { queryOf, type Session, parseReply } from "./gateway-session.ts";
import { printJson, table } from "./print.ts";
import { printLine, type Terminal, write } from "./terminal.ts";

const PAGE = 100;
/** Default of `--limit`. */
export const USUAL_LINES = 20;

export interface ListOptions {
  readonly limit?: number;
  readonly json?: boolean;
}

export interface ListRequest<T> {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly item: z.ZodType<T>;
  /** As in "is no list of jobs". */
  readonly what: string;
}

export interface ListPage<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

/** Yields items page by page, up to the wanted number. */
export async function* readPages<T>(
  session: Pick<Session, "document">,
  request: ListRequest<T>,
  count = USUAL_LINES,
): AsyncGenerator<ListPage<T>> {
  const schema = z.object({ data: z.array(request.item), next_cursor: z.string().nullable() });
  let remaining = count;
  let cursor: string | null = null;
  do {
    const query = queryOf({ ...request.query, limit: Math.min(PAGE, remaining), cursor: cursor ?? undefined });
    const page: ListPage<T> = parseReply(schema, await session.document(`${request.path}${query}`), request.what);
    yield page;
    remaining -= page.data.length;
    cursor = page.next_cursor;
  } while (cursor !== null && remaining > 0);
}

/** Reads all of them at once, for output in columns. */
export async function readList<T>(session: Session, request: ListRequest<T>, count?: number): Promise<ListPage<T>> {
  const found: T[] = [];
  let next: string | null = null;
  for await (const page of readPages(session, request, count)) {
    found.push(...page.data);
    next = page.next_cursor;
  }
  return { data: found, next_cursor: next };
}

export interface Columns<T> {
  readonly head: readonly string[];
  readonly row: (item: T) => readonly string[];
  /** Message and hint for an empty list. */
  readonly nothing: string;
}

export async function printList<T>(
  terminal: Terminal,
  list: ListPage<T>,
  { head, row, nothing }: Columns<T>,
  options: ListOptions,
): Promise<void> {
  if (options.json === true) return printJson(terminal, { object: "list", ...list });
  if (list.data.length === 0) return printLine(terminal, nothing);
  await write(terminal.stdout, table(head, list.data.map(row)));
  if (list.next_cursor !== null) await printLine(terminal, `More items exist: --limit ${list.data.length * 2}`);
}
