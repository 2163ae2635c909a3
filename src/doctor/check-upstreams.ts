import { activeFeeds, activeLedgers } from '../app/configured-feeds.ts';
import type { Environment } from '../config/environment.ts';
import type { Config } from '../config/schema.ts';
import type { CheckResult } from '../lib/check-result.ts';
import { createRedactor } from '../lib/redaction.ts';
import type { CheckedUpstream, UpstreamCheckResult } from '../upstreams/examination.ts';
import { checkNode, requestNodeId } from '../upstreams/examine-node.ts';
import { checkService, type ServiceTestRequest } from '../upstreams/examine-service.ts';

/** Maximum request timeout, in ms. */
const MAX_REQUEST_TIMEOUT_MS = 10_000;
/** Maximum number of chains to check, so that the check uses little of the budget. */
const MAX_CHAINS = 20;
/** Maximum clock difference, in ms. Responses take time, and `Date` has a resolution of one second. */
const MAX_CLOCK_SKEW_MS = 30_000;

const APIS = ['info', 'platform', 'avm', 'health'] as const;

type Keys = Pick<Environment, 'chainDataKey' | 'metricsKey'>;

/** Checks every upstream of a configuration concurrently. */
export async function checkUpstreams(
  config: Config,
  keys: Keys,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const examined = await Promise.all([...services(config, keys, signal), ...nodes(config, keys, signal)]);
  return [...examined.flatMap(({ checked }) => checked), ...clockOf(examined)];
}

/** Returns the node ids of the configured nodes that respond, each once. */
export async function findNodeIds(config: Config, keys: Keys, signal: AbortSignal): Promise<string[]> {
  const found = await Promise.all(
    config.upstreams.nodes.map(({ name, url, timeout }, at) =>
      requestNodeId(examineeOf(`nodes/${name}`, url, `upstreams.nodes[${at}].url`, timeout, keys, signal)),
    ),
  );
  return [...new Set(found.filter((id) => id !== null))];
}

function services(config: Config, keys: Keys, signal: AbortSignal): Promise<UpstreamCheckResult>[] {
  const { upstreams, watch } = config;
  const metrics = watch.chains.slice(0, MAX_CHAINS).map(
    (chain, at): ServiceTestRequest => ({
      path: `/v2/chains/${chain}/metrics/txCount?timeInterval=day&pageSize=1`,
      list: 'results',
      about: { what: `the chain ${chain}`, setting: `watch.chains[${at}]` },
    }),
  );
  const chainData = [{ path: `/v1/networks/${config.network}/subnets?pageSize=1`, list: 'subnets' }];
  return [
    {
      name: 'chainData' as const,
      key: keys.chainDataKey,
      variable: 'CHAIN_DATA_API_KEY',
      testRequests: chainData,
    },
    { name: 'metrics' as const, key: keys.metricsKey, variable: 'METRICS_API_KEY', testRequests: metrics },
  ].flatMap(({ name, key, variable, testRequests }) => {
    const service = upstreams[name];
    if (!service || testRequests.length === 0) return [];
    const { url, timeout, apiKeyHeader: header } = service;
    const examinee: CheckedUpstream = {
      ...examineeOf(name, url, `upstreams.${name}.url`, timeout, keys, signal),
      kind: 'service',
      key: { variable, header, set: key !== undefined },
      headers: key !== undefined && header !== undefined ? { [header]: key } : {},
    };
    return [
      checkService(examinee, testRequests).then((one) => withAdvice(one, service.budget !== undefined)),
    ];
  });
}

/**
 * Adds a hint if no budget is declared. Without a budget, only responses of a metered service limit the
 * requests.
 */
function withAdvice({ checked, skew }: UpstreamCheckResult, limited: boolean): UpstreamCheckResult {
  if (limited) return { checked, skew };
  const advice = '; no budget is declared, so only responses with status 429 slow the recorder down';
  return { checked: checked.map((one) => (one.ok ? { ...one, found: one.found + advice } : one)), skew };
}

function nodes(config: Config, keys: Keys, signal: AbortSignal): Promise<UpstreamCheckResult>[] {
  const watched = [...activeFeeds(config), ...activeLedgers(config)].filter(
    ({ targets }) => targets.length > 0,
  );
  const operations = watched.flatMap(({ datasets }) => datasets.flatMap((dataset) => dataset.operations));
  const apis = new Set(APIS.filter((api) => operations.some((operation) => operation.startsWith(`${api}.`))));
  return config.upstreams.nodes.map(({ name, url, timeout }, at) => {
    const setting = `upstreams.nodes[${at}].url`;
    const examinee = examineeOf(`nodes/${name}`, url, setting, timeout, keys, signal);
    return checkNode(examinee, { network: config.network, apis });
  });
}

function examineeOf(
  name: string,
  url: string,
  setting: string,
  timeout: number,
  { chainDataKey, metricsKey }: Keys,
  signal: AbortSignal,
): CheckedUpstream {
  return {
    name,
    url,
    setting,
    kind: 'node',
    key: null,
    headers: {},
    timeout: Math.min(timeout, MAX_REQUEST_TIMEOUT_MS),
    redact: createRedactor([chainDataKey, metricsKey]),
    signal,
  };
}

/**
 * Returns a failed check if the clock of this machine differs from the clocks of all upstreams that report
 * their time.
 */
function clockOf(examined: readonly UpstreamCheckResult[]): CheckResult[] {
  const skews = examined.flatMap(({ skew }) => skew ?? []);
  const least = skews.toSorted((a, b) => Math.abs(a) - Math.abs(b))[0];
  if (least === undefined || Math.abs(least) <= MAX_CLOCK_SKEW_MS) return [];
  const seconds = Math.round(Math.abs(least) / 1000);
  const found = `the clock of this machine is ${seconds} s ${least > 0 ? 'behind' : 'ahead of'} that of the upstreams`;
  return [
    { check: 'clock', ok: false, found, fix: 'run NTP on this machine, such as: timedatectl set-ntp true' },
  ];
}
