// Header fields of a response that depend on its caller, evaluated when the response is sent. An object and not a closure: with a closure in a field of each
// exchange, V8's collector of the young generation kept whole requests alive until the next full collection. Of 48 MiB, 1.2 to 1.8 instead of 4.1 MB survive a
// collection, and a plain chat takes 5 to 12 % less CPU (docs/decisions/0057-survivors-of-the-young-generation.md).
export type Fields = Readonly<Record<string, string>>;

export interface ReplyFields {
  read(): Fields;
}

const NO_FIELDS: Fields = {};
export const NO_REPLY_FIELDS: ReplyFields = { read: () => NO_FIELDS };

export class CallerFields<P> implements ReplyFields {
  readonly #fieldsOf: (caller: P) => Fields;
  readonly #caller: P;

  constructor(fieldsOf: (caller: P) => Fields, caller: P) {
    this.#fieldsOf = fieldsOf;
    this.#caller = caller;
  }

  read(): Fields {
    return this.#fieldsOf(this.#caller);
  }
}
