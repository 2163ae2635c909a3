import { nodeId } from '../config/ids.ts';
import { NETWORK_IDS, type NetworkName, networkName } from '../config/networks.ts';
import type { CheckResult } from '../lib/check-result.ts';
import {
  type CheckedUpstream,
  createFailedCheck,
  findWorkingUrl,
  sendTestRequest,
  type UpstreamCheckResult,
} from './examination.ts';
import { failureTable } from './failure.ts';
import type { Symptom, TestRequest, TestRequestResult } from './symptom.ts';

/** Configuration that a node is checked against. */
export interface NodeExpectation {
  readonly network: NetworkName;
  /** APIs that the configuration records from the node. */
  readonly apis: ReadonlySet<'info' | 'platform' | 'avm' | 'health'>;
}

const INFO: TestRequest = { path: '/ext/info', method: 'info.getNetworkID' };
const P_CHAIN: TestRequest = { path: '/ext/bc/P', method: 'platform.getCurrentSupply', params: {} };
const X_CHAIN: TestRequest = { path: '/ext/bc/X', method: 'avm.getHeight', params: {} };
const HEALTH: TestRequest = { path: '/ext/health', isHealthReport: true };
/** Fallback of health probes for nodes that do not serve the GET. */
const HEALTH_BY_RPC: TestRequest = { path: '/ext/health', method: 'health.health' };

const isDisabled = (symptom: Symptom) => symptom.status === 404 || symptom.kind === 'unsupported';

/** Checks a node: availability, network, bootstrap state and APIs. */
export async function checkNode(
  node: CheckedUpstream,
  { network, apis }: NodeExpectation,
): Promise<UpstreamCheckResult> {
  const info = await sendTestRequest(node, INFO);
  const { skew } = info;
  if (info.symptom !== null) {
    // A request to another API determines whether only the info API is disabled.
    const other = info.symptom.failed === null ? await sendTestRequest(node, P_CHAIN) : info;
    if (other.symptom !== null) {
      const fix = await findWorkingUrl(node, INFO, info.symptom);
      return { checked: [createFailedCheck(node, INFO, info.symptom, fix)], skew };
    }
  }
  const problems = [
    ...(info.symptom === null
      ? [...checkNetwork(node, info, network), ...(await checkBootstrapped(node))]
      : describeApiFailure(node, INFO, info.symptom, 'info', apis.has('info'))),
    ...(apis.has('platform') ? await checkApi(node, P_CHAIN, 'platform') : []),
    ...(apis.has('avm') ? await checkApi(node, X_CHAIN, 'X-chain') : []),
    ...(apis.has('health') ? await checkHealthApi(node) : []),
  ];
  const fine = {
    check: node.name,
    ok: true,
    found: `${node.url} answered${info.symptom === null ? ` in ${info.took} ms` : ''}`,
  };
  return { checked: problems.some(({ ok }) => !ok) ? problems : [fine, ...problems], skew };
}

/** Requests the id of a node. Returns null if the node does not respond or does not report an id. */
export async function requestNodeId(node: CheckedUpstream): Promise<string | null> {
  const { symptom, body } = await sendTestRequest(node, { path: '/ext/info', method: 'info.getNodeID' });
  const id = symptom === null ? resultOf(body, 'nodeID') : undefined;
  return typeof id === 'string' && nodeId.safeParse(id).success ? id : null;
}

function checkNetwork(
  { name, url, setting }: CheckedUpstream,
  { body }: TestRequestResult,
  network: NetworkName,
): CheckResult[] {
  const answered = resultOf(body, 'networkID');
  const id = Number(answered);
  if (answered === undefined || id === NETWORK_IDS[network]) return [];
  const its = networkName(id);
  const fix = its.endsWith(String(id))
    ? `correct ${setting}: chain-recorder records mainnet, fuji and sandbox`
    : `set network to ${its}, or ${setting} to a node of ${network}`;
  return [
    {
      check: name,
      ok: false,
      found: `${url}: the node belongs to the network ${its}, and the configured network is ${network}`,
      fix: fix,
    },
  ];
}

async function checkBootstrapped(node: CheckedUpstream): Promise<CheckResult[]> {
  const { body } = await sendTestRequest(node, {
    ...INFO,
    method: 'info.isBootstrapped',
    params: { chain: 'P' },
  });
  if (resultOf(body, 'isBootstrapped') !== false) return [];
  return [
    {
      check: node.name,
      ok: false,
      found: `${node.url}: the node is not bootstrapped: its P-chain data is behind the network`,
      fix: 'wait until the node is bootstrapped: the recording then continues automatically',
    },
  ];
}

/** Returns the problems of one API. Returns an empty list if the API responds. */
async function checkApi(
  node: CheckedUpstream,
  testRequest: TestRequest,
  name: string,
): Promise<CheckResult[]> {
  const { symptom } = await sendTestRequest(node, testRequest);
  return symptom === null ? [] : describeApiFailure(node, testRequest, symptom, name, true);
}

/**
 * Returns the problems of the health API, with the state that probes record meanwhile. Returns an empty list
 * if the node returns a health report.
 */
async function checkHealthApi(node: CheckedUpstream): Promise<CheckResult[]> {
  let { symptom } = await sendTestRequest(node, HEALTH);
  if (symptom && [404, 405].includes(symptom.status)) {
    const byRpc = await sendTestRequest(node, HEALTH_BY_RPC);
    if (byRpc.symptom === null) return [];
    symptom = byRpc.symptom;
  }
  if (symptom === null) return [];
  const state = failureTable[symptom.kind].probe;
  return describeApiFailure(node, HEALTH, symptom, 'health', true).map((problem) => ({
    ...problem,
    found: `${problem.found}; probes record the node as ${state} meanwhile`,
  }));
}

function describeApiFailure(
  node: CheckedUpstream,
  testRequest: TestRequest,
  symptom: Symptom,
  name: string,
  isRequired: boolean,
): CheckResult[] {
  if (!isDisabled(symptom)) return [createFailedCheck(node, testRequest, symptom)];
  const found = `${node.url}${testRequest.path}: the node does not offer the ${name} API`;
  if (name === 'X-chain' || !isRequired)
    return [
      { check: node.name, ok: true, found: `${found}: reported once, and everything else is recorded` },
    ];
  const fix = {
    info: 'start the node with --api-info-enabled=true, or disable the datasets that use the info API, such as node_identity (datasets.node_identity.enabled: false)',
    health: 'start the node with --api-health-enabled=true, or set datasets.node_health.enabled to false',
    platform: `correct ${node.setting}: every node offers the P-chain, but a proxy in front of the node may block some paths`,
  }[name];
  return [{ check: node.name, ok: false, found, ...(fix === undefined ? {} : { fix: fix }) }];
}

function resultOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null
    ? Object.entries(body).find(([key]) => key === name)?.[1]
    : undefined;
}
