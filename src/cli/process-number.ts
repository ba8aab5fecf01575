// Environment variable with the number of a gateway process, from 1, if there are several. Set by their parent (start/processes.ts). A file of its own, because
// every command reads it and few load the options of `up`.
export const PROCESS_NUMBER = "PATCHBAY_PROCESS_NUMBER";
