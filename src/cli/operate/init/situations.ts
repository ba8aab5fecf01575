// The three situations that `patchbay init` writes files for. Tests check every file as it is and with each option switched on, and start the one to try.
import { PRODUCTION_CONFIGURATION, PRODUCTION_VARIABLES } from "./production.ts";
import { TEAM_CONFIGURATION, TEAM_VARIABLES } from "./team.ts";
import { TRY_CONFIGURATION } from "./try.ts";

export const SITUATIONS = ["try", "team", "production"] as const;
export type Situation = (typeof SITUATIONS)[number];

export interface InitFiles {
  readonly title: string;
  readonly configuration: string;
  /** A file of environment variables to fill in. Null: the configuration reads none. */
  readonly variables: string | null;
  /** Commands to type next. */
  readonly next: readonly string[];
}

export const CONFIGURATION_NAME = "patchbay.yaml";
export const VARIABLES_NAME = ".env.example";

const SET_VARIABLES = [`cp ${VARIABLES_NAME} .env   # and fill it in`, "set -a; . ./.env; set +a"];

export const INIT_FILES: Readonly<Record<Situation, InitFiles>> = {
  try: {
    title: "try it alone on this machine, without secrets or accounts",
    configuration: TRY_CONFIGURATION,
    variables: null,
    next: ["patchbay up", "patchbay transcribe --sample"],
  },
  team: {
    title: "one team with a provider's key, on one machine",
    configuration: TEAM_CONFIGURATION,
    variables: TEAM_VARIABLES,
    next: [...SET_VARIABLES, "patchbay up", 'patchbay transcribe --sample --api-key "$PATCHBAY_APP_KEY"'],
  },
  production: {
    title: "production with PostgreSQL and an object store",
    configuration: PRODUCTION_CONFIGURATION,
    variables: PRODUCTION_VARIABLES,
    next: [...SET_VARIABLES, "patchbay doctor", "patchbay up --processes 4"],
  },
};
