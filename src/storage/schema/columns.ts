// Column types as Kysely reads and writes them: int8 is a bigint, jsonb is written as text, numeric is an exact decimal in text.
import type { ColumnType } from "kysely";

export type Json = ColumnType<unknown, string, string>;
export type JsonWithDefault = ColumnType<unknown, string | undefined, string>;
export type Bigint = ColumnType<bigint, bigint | number, bigint | number>;
export type BigintWithDefault = ColumnType<bigint, bigint | number | undefined, bigint | number>;
export type BigintOrNull = ColumnType<bigint | null, bigint | number | null | undefined, bigint | number | null>;
export type Bytes = ColumnType<Buffer, Buffer, Buffer>;
export type BytesOrNull = ColumnType<Buffer | null, Buffer | null | undefined, Buffer | null>;
export type Time = ColumnType<Date, Date, Date>;
export type TimeWithDefault = ColumnType<Date, Date | undefined, Date>;
export type TimeOrNull = ColumnType<Date | null, Date | null | undefined, Date | null>;
/** An exact decimal, as text. */
export type NumericOrNull = ColumnType<string | null, string | number | null | undefined, string | number | null>;
export type NumberOrNull = ColumnType<number | null, number | null | undefined, number | null>;
export type TextOrNull = ColumnType<string | null, string | null | undefined, string | null>;
