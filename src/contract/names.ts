// The syntax of ids, labels, model names and amounts of money that people write, in the configuration file and in the admin API.

export const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
export const ID_RULE = "must be an id: letters, digits, `.`, `_`, `-`, at most 63 of them";
export const LABEL_PATTERN = /^[a-z0-9][a-z0-9_-]{0,62}$/;
export const LABEL_RULE = "must be a purpose label: lower-case letters, digits, `_`, `-`, at most 63 of them";
/** Providers choose model names freely, but in plain characters: the names are used in addresses, headers, logs and tables. */
export const MODEL_PATTERN = /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/;
export const MODEL_RULE = "must be a model's name: at most 200 visible ASCII characters";
/** The precision and range of stored money: finer amounts would be rounded, and larger ones cannot be stored. */
export const MONEY_PATTERN = /^\d{1,9}(\.\d{1,9})?$/;
export const MONEY_RULE =
  'must be a decimal in quotes with at most nine digits before and after the point, such as "50.00"';
