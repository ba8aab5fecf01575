// The answer to GET /v1/melimits: every limit as enforced, with the calling key's quotas and remaining budgets.
import type { Principal, Quota } from "../../auth/principal.ts";
import type { LimitsReport } from "../../contract/account.ts";
import { type BudgetState, reachesSoftLimit } from "../../metering/budget.ts";
import type { Ledger } from "../../metering/ledger.ts";
import type { LimitsConfiguration as Limits } from "../../config/configuration.ts";
import { formatUsd } from "../../metering/money.ts";

/** The configured limits that callers may see, by their names in the API. */
export type LimitFigures = Omit<LimitsReport, "object" | "quotas" | "budgets">;

export interface LimitServices {
  readonly figures: LimitFigures;
  readonly ledger: Pick<Ledger, "budgetsOf">;
}

export async function describeLimits(services: LimitServices, principal: Principal): Promise<LimitsReport> {
  const { app, key, workspace } = principal;
  const budgets = app === null ? [] : await services.ledger.budgetsOf(workspace.id, app.id);
  return {
    object: "limits",
    ...services.figures,
    quotas: { key: describeQuota(key.quota), app: app === null ? null : describeQuota(app.quota) },
    budgets: budgets.map(describeBudget),
  };
}

function describeQuota(quota: Quota): LimitsReport["quotas"]["key"] {
  return {
    requests_per_minute: quota.requestsPerMinute,
    concurrent: quota.concurrent,
    audio_seconds_per_hour: quota.audioSecondsPerHour,
    tokens_per_minute: quota.tokensPerMinute,
  };
}

export function describeBudget(budget: BudgetState): LimitsReport["budgets"][number] {
  const { limitNanoUsd, limitAudioMs, limitTokens } = budget;
  const left = (limit: bigint, used: bigint) => (limit > used ? limit - used : 0n);
  return {
    period: budget.period,
    limit_usd: limitNanoUsd === null ? null : formatUsd(limitNanoUsd),
    remaining_usd:
      limitNanoUsd === null ? null : formatUsd(left(limitNanoUsd, budget.spentNanoUsd + budget.reservedNanoUsd)),
    limit_audio_seconds: limitAudioMs === null ? null : Number(limitAudioMs) / 1000,
    remaining_audio_seconds:
      limitAudioMs === null ? null : Number(left(limitAudioMs, budget.spentAudioMs + budget.reservedAudioMs)) / 1000,
    limit_tokens: limitTokens === null ? null : Number(limitTokens),
    remaining_tokens:
      limitTokens === null ? null : Number(left(limitTokens, budget.spentTokens + budget.reservedTokens)),
    soft_limit: budget.softLimit,
    soft_limit_reached: reachesSoftLimit(budget),
    resets_at: budget.resetsAt?.toISOString() ?? null,
  };
}

/** Maps the configured limits to their names in the API. */
export function limitFigures(limits: Limits): LimitFigures {
  return {
    max_audio_bytes: limits.maxAudioBytes,
    max_audio_url_bytes: limits.maxAudioUrlBytes,
    max_job_audio_bytes: limits.maxJobAudioBytes,
    max_job_audio_url_bytes: limits.maxJobAudioUrlBytes,
    max_audio_duration_seconds: limits.maxAudioDurationSeconds,
    sync_idempotency_ttl_seconds: limits.syncIdempotencyTtlSeconds,
    stt_job_result_ttl_seconds: limits.sttJobResultTtlSeconds,
    stt_job_inline_result_bytes: limits.sttJobInlineResultBytes,
    result_url_ttl_seconds: limits.resultUrlTtlSeconds,
    sync_timeout_seconds: limits.syncTimeoutSeconds,
    max_audio_url_redirects: limits.maxAudioUrlRedirects,
    max_audio_url_domains: limits.maxAudioUrlDomains,
    max_chat_body_bytes: limits.maxChatBodyBytes,
    max_keyterms: limits.maxKeyterms,
    max_attempts_per_request: limits.maxAttemptsPerRequest,
    url_fetches_per_minute: limits.urlFetchesPerMinute,
    webhook_max_attempts: limits.webhookMaxAttempts,
    webhook_timeout_seconds: limits.webhookTimeoutSeconds,
  };
}
