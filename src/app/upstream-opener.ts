import type postgres from 'postgres';
import type { Environment } from '../config/environment.ts';
import type { Config } from '../config/schema.ts';
import { type BudgetKey, budgetKey } from '../db/budget-key.ts';
import { SharedBudget } from '../db/shared-budget.ts';
import type { Clock } from '../lib/clock.ts';
import { createRedactor } from '../lib/redaction.ts';
import type { OpenUpstream } from '../recording/context.ts';
import { IdentifiedNode } from '../recording/identity/identified-node.ts';
import { NodeGuard } from '../recording/identity/node-guard.ts';
import type { ProcessCounts } from '../server/metrics/process-counts.ts';
import { unmetered } from '../upstreams/budget.ts';
import { UpstreamSession, type UpstreamSettings } from '../upstreams/upstream-session.ts';

/**
 * Maximum size of a response, in bytes. The largest responses have a few MB, and each of ten workers may hold
 * one response in memory.
 */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

type ApiKeys = Pick<Environment, 'chainDataKey' | 'metricsKey'>;

/** Returns the budget keys of the services in a configuration. */
export function budgetKeys(config: Config, keys: ApiKeys): BudgetKey[] {
  return meteredServices(config, keys).map(({ budgetKey }) => budgetKey);
}

/** Returns the services with a request budget, each with the name of the header for its API key. */
function meteredServices({ upstreams }: Config, { chainDataKey, metricsKey }: ApiKeys) {
  return [
    { name: 'chainData', service: upstreams.chainData, key: chainDataKey },
    { name: 'metrics', service: upstreams.metrics, key: metricsKey },
  ].flatMap(({ name, service, key }) => {
    if (!service) return [];
    const keyHeader = key === undefined ? undefined : service.apiKeyHeader;
    const headers: UpstreamSettings['headers'] = key && keyHeader ? { [keyHeader]: key } : {};
    return [{ name, service, headers, budgetKey: budgetKey(name, service.url, keyHeader) }];
  });
}

/**
 * Creates the function that opens upstreams, each with its API key, limits and budget.
 * @param counts counter of the calls; absent: calls are not counted
 */
export function createUpstreamOpener(
  config: Config,
  keys: ApiKeys,
  sql: postgres.Sql,
  clock: Clock,
  counts?: ProcessCounts,
): OpenUpstream {
  const redact = createRedactor([keys.chainDataKey, keys.metricsKey]);
  const settings = new Map<string, UpstreamSettings>();
  const add = (
    name: string,
    service: { url: string; timeout: number },
    more: Pick<UpstreamSettings, 'headers' | 'budget'>,
  ) =>
    settings.set(name, {
      redact,
      name,
      url: service.url,
      deadline: service.timeout,
      maxBytes: MAX_RESPONSE_BYTES,
      onCall: (outcome, seconds) => counts?.call(name, outcome, seconds),
      ...more,
    });
  for (const { name, service, headers, budgetKey } of meteredServices(config, keys)) {
    const { perMinute, perDay } = service.budget ?? {};
    add(name, service, { headers, budget: new SharedBudget(sql, budgetKey, { perMinute, perDay }, clock) });
  }
  for (const node of config.upstreams.nodes)
    add(`nodes/${node.name}`, node, { headers: {}, budget: unmetered });
  const { network } = config;
  const guards = new Map(
    config.upstreams.nodes.map((node) => [
      `nodes/${node.name}`,
      new NodeGuard(sql, { ...node, network }, clock),
    ]),
  );
  return ({ source }, { target }, options) => {
    const name = source.upstream === 'nodes' ? `nodes/${target.node}` : source.upstream;
    const found = settings.get(name);
    if (!found) throw new Error(`no upstream ${name} is configured`);
    const guard = guards.get(name);
    return guard ? new IdentifiedNode(found, options, guard) : new UpstreamSession(found, options);
  };
}
