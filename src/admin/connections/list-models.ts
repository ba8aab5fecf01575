// Lists the models that routes of a workspace, or shared ones, can reference [providers.model-list], by the current connections and the workspace's plan.
import type { BillingClass } from "../../contract/billing-class.ts";
import type { WorkspaceId } from "../../contract/ids.ts";
import { needsCredential, type ProviderKind } from "../../contract/provider-kinds.ts";
import type { AssignableModel, AssignableModels } from "../../contract/admin/workspace-models.ts";
import { type AccountModel, knownKinds, modelsOf } from "../../directory/models-of.ts";
import type { Directory, DirectoryScope, VisibleAccount } from "../../directory/snapshot.ts";
import type { Capability } from "../../contract/features.ts";
import { isPaidByPlan } from "../../gateway/calls/target-unavailability.ts";
import { billingClassOf } from "../../gateway/billing/billing-class.ts";
import { type PlanFunds, readPlanFunds } from "../../metering/plan-funds.ts";
import type { PriceBook } from "../../metering/price.ts";
import type { Database } from "../../storage/database.ts";
import { targetDataPolicy } from "../../directory/target-data-policy.ts";
import { describeAbilities, describeDataPolicy } from "./describe-model.ts";
import { workspaceOf } from "../set-up-scope.ts";

export interface ModelListServices {
  readonly database: Pick<Database, "inWorkspace">;
  readonly directory: () => Directory;
  readonly prices: () => PriceBook;
  readonly modelClock: () => Date;
}

export async function listModels(services: ModelListServices, scope: DirectoryScope): Promise<AssignableModels> {
  const { adapters } = services.directory();
  const funds = await fundsOf(services, workspaceOf(scope));
  const prices = services.prices();
  const nowMs = services.modelClock().getTime();
  const accounts = services.directory().accountsOf(scope);
  const connected = accounts.flatMap((visible) =>
    modelsOf(visible.account, adapters).map((model) => ({
      ...connectedModel(model, visible, { prices, funds, nowMs }),
      data_policy: describeDataPolicy(targetDataPolicy(visible.account, model, adapters)),
    })),
  );
  const missing = knownKinds(adapters)
    .filter((kind) => !accounts.some(({ account }) => account.kind === kind))
    .flatMap((kind) =>
      modelsOf({ kind, models: {} }, adapters).map((model) => ({
        ...unconnectedModel(model, kind, nowMs),
        data_policy: describeDataPolicy(targetDataPolicy({ kind, baseUrl: null }, model, adapters)),
      })),
    );
  return { object: "list", data: [...connected, ...missing] };
}

/** Null: there is no plan that could be exhausted. Shared routes have none. */
async function fundsOf({ database }: ModelListServices, workspace: WorkspaceId | null): Promise<PlanFunds | null> {
  return workspace === null ? null : database.inWorkspace(workspace, (tx) => readPlanFunds(tx, workspace));
}

function connectedModel(
  model: AccountModel,
  { account, isOwn, ownership }: VisibleAccount,
  { prices, funds, nowMs }: { readonly prices: PriceBook; readonly funds: PlanFunds | null; readonly nowMs: number },
): Omit<AssignableModel, "data_policy"> {
  const { kind: provider } = account;
  const classOf = (price: ReturnType<PriceBook["audio"] | PriceBook["chat"]>) =>
    billingClassOf({ testMode: false }, { ownership }, price);
  const billing = {
    audio_input: model.speech === null ? null : classOf(prices.audio(provider, model.name)),
    chat: model.chat === null ? null : classOf(prices.chat(provider, model.name)),
  };
  const isMissingHere = model.speech?.unusable !== undefined && model.chat === null;
  const reason = isNotOffered(model)
    ? "not_offered"
    : isMissingHere
      ? "not_installed"
      : account.credential === null && needsCredential(provider)
        ? "no_credential"
        : reasonOfPlan(model.name, { provider, ownership, billing, prices, funds });
  return {
    connection: account.connection,
    connection_owner: isOwn ? "workspace" : "platform",
    ...describeCommon(model, provider, nowMs),
    billing_class: billing,
    assignable: reason === null,
    reason,
  };
}

/** Describes the model as it would be on an account of one's own. */
function unconnectedModel(
  model: AccountModel,
  provider: ProviderKind,
  nowMs: number,
): Omit<AssignableModel, "data_policy"> {
  const ownAccountClass = provider === "sandbox" ? "simulated" : "provider_billed";
  return {
    connection: null,
    connection_owner: null,
    ...describeCommon(model, provider, nowMs),
    billing_class: {
      audio_input: model.speech === null ? null : ownAccountClass,
      chat: model.chat === null ? null : ownAccountClass,
    },
    assignable: false,
    reason: isNotOffered(model) ? "not_offered" : "no_connection",
  };
}

function isNotOffered({ speech, chat }: AccountModel): boolean {
  return speech?.notOffered !== undefined && chat === null;
}

function describeCommon(model: AccountModel, provider: ProviderKind, nowMs: number) {
  const { speech, chat } = model;
  const { maxBytes, maxSeconds, maxChannels, formats } = speech?.limits ?? {};
  return {
    provider,
    ...describeAbilities(model, nowMs),
    limits: {
      max_bytes: maxBytes ?? null,
      max_seconds: maxSeconds ?? null,
      max_channels: maxChannels ?? null,
      formats: formats === undefined ? null : [...formats],
      max_output_tokens: chat?.limits.maxOutputTokens ?? null,
      context_tokens: chat?.limits.contextTokens ?? null,
    },
    languages: speech === null ? null : speech.languages === "any" ? ("any" as const) : [...speech.languages],
  };
}

/** Null: there is no plan, or the plan pays for at least one of the model's capabilities. */
function reasonOfPlan(
  model: string,
  context: {
    readonly provider: ProviderKind;
    readonly ownership: VisibleAccount["ownership"];
    readonly billing: Readonly<Record<Capability, BillingClass | null>>;
    readonly prices: PriceBook;
    readonly funds: PlanFunds | null;
  },
): "unpriced" | "credits_required" | null {
  const { provider, ownership, billing, prices, funds } = context;
  if (funds === null) return null;
  const classPaidByPlan = (capability: Capability) =>
    isPaidByPlan(prices, { ownership, provider, model }, capability) ? billing[capability] : null;
  const payableClasses = { audio_input: classPaidByPlan("audio_input"), chat: classPaidByPlan("chat") };
  if (payableClasses.audio_input === null && payableClasses.chat === null) return "unpriced";
  return isPaidFor(payableClasses, funds) ? null : "credits_required";
}

/** One payable capability is enough. Plain chat uses the monthly tokens, the rest uses credits [budgets.plan-allowance]. */
function isPaidFor(
  { audio_input: audio, chat }: { readonly audio_input: BillingClass | null; readonly chat: BillingClass | null },
  funds: PlanFunds,
): boolean {
  const isAudioPaid = audio !== null && (audio !== "metered" || funds.hasCredits);
  const isChatPaid = chat !== null && (chat !== "metered" || funds.hasCredits || funds.hasAllowance);
  return isAudioPaid || isChatPaid;
}
