import { NETWORK_IDS, type NetworkName, networkName } from '../config/networks.ts';
import type { Checked } from '../lib/check-result.ts';
import { betterUrl, type Examined, type Examinee, fault, trial } from './examination.ts';
import { failureTable } from './failure.ts';
import type { Symptom, Trial, TrialQuestion } from './symptom.ts';

/** Configuration that a node is checked against. */
export interface NodeExpectation {
  readonly network: NetworkName;
  /** APIs that the configuration records from the node. */
  readonly apis: ReadonlySet<'info' | 'platform' | 'avm' | 'health'>;
}

const INFO: TrialQuestion = { path: '/ext/info', method: 'info.getNetworkID' };
const P_CHAIN: TrialQuestion = { path: '/ext/bc/P', method: 'platform.getCurrentSupply', params: {} };
const X_CHAIN: TrialQuestion = { path: '/ext/bc/X', method: 'avm.getHeight', params: {} };
const HEALTH: TrialQuestion = { path: '/ext/health', isHealthReport: true };
/** Fallback of health probes for nodes that do not serve the GET. */
const HEALTH_BY_RPC: TrialQuestion = { path: '/ext/health', method: 'health.health' };

const disabled = (symptom: Symptom) => symptom.status === 404 || symptom.kind === 'not-offered';

/** Checks a node: availability, network, bootstrap state and APIs. */
export async function examineNode(node: Examinee, { network, apis }: NodeExpectation): Promise<Examined> {
  const info = await trial(node, INFO);
  const { skew } = info;
  if (info.symptom !== null) {
    // Another API shows whether only this one is disabled.
    const other = info.symptom.failed === null ? await trial(node, P_CHAIN) : info;
    if (other.symptom !== null) {
      const mend = await betterUrl(node, INFO, info.symptom);
      return { checked: [fault(node, INFO, info.symptom, mend)], skew };
    }
  }
  const problems = [
    ...(info.symptom === null
      ? [...wrongNetwork(node, info, network), ...(await notBootstrapped(node))]
      : off(node, INFO, info.symptom, 'info', apis.has('info'))),
    ...(apis.has('platform') ? await api(node, P_CHAIN, 'platform') : []),
    ...(apis.has('avm') ? await api(node, X_CHAIN, 'X-chain') : []),
    ...(apis.has('health') ? await healthApi(node) : []),
  ];
  const fine = {
    check: node.name,
    ok: true,
    found: `${node.url} answered${info.symptom === null ? ` in ${info.took} ms` : ''}`,
  };
  return { checked: problems.some(({ ok }) => !ok) ? problems : [fine, ...problems], skew };
}

function wrongNetwork({ name, url, setting }: Examinee, { body }: Trial, network: NetworkName): Checked[] {
  const answered = resultOf(body, 'networkID');
  const id = Number(answered);
  if (answered === undefined || id === NETWORK_IDS[network]) return [];
  const its = networkName(id);
  const mend = its.endsWith(String(id))
    ? `correct ${setting}: chain-recorder records mainnet, fuji and sandbox`
    : `set network to ${its}, or ${setting} to a node of ${network}`;
  return [
    {
      check: name,
      ok: false,
      found: `${url}: the node belongs to the network ${its}, and the configuration says ${network}`,
      mend,
    },
  ];
}

async function notBootstrapped(node: Examinee): Promise<Checked[]> {
  const { body } = await trial(node, { ...INFO, method: 'info.isBootstrapped', params: { chain: 'P' } });
  if (resultOf(body, 'isBootstrapped') !== false) return [];
  return [
    {
      check: node.name,
      ok: false,
      found: `${node.url}: the node is not bootstrapped: what it says of the P-chain is behind the network`,
      mend: 'wait: recording goes on by itself once it has caught up',
    },
  ];
}

/** Returns the problems of one API. Returns an empty list if it responds. */
async function api(node: Examinee, question: TrialQuestion, name: string): Promise<Checked[]> {
  const { symptom } = await trial(node, question);
  return symptom === null ? [] : off(node, question, symptom, name, true);
}

/**
 * Returns the problems of the health API, with the state that probes record meanwhile. Returns an empty list
 * if the node returns a health report.
 */
async function healthApi(node: Examinee): Promise<Checked[]> {
  let { symptom } = await trial(node, HEALTH);
  if (symptom && [404, 405].includes(symptom.status)) {
    const byRpc = await trial(node, HEALTH_BY_RPC);
    if (byRpc.symptom === null) return [];
    symptom = byRpc.symptom;
  }
  if (symptom === null) return [];
  const state = failureTable[symptom.kind].probe;
  return off(node, HEALTH, symptom, 'health', true).map((problem) => ({
    ...problem,
    found: `${problem.found}; probes record the node as ${state} meanwhile`,
  }));
}

function off(
  node: Examinee,
  question: TrialQuestion,
  symptom: Symptom,
  name: string,
  wanted: boolean,
): Checked[] {
  if (!disabled(symptom)) return [fault(node, question, symptom)];
  const found = `${node.url}${question.path}: the node does not offer the ${name} API`;
  if (name === 'X-chain' || !wanted)
    return [
      { check: node.name, ok: true, found: `${found}: that is noted once, and everything else is recorded` },
    ];
  const mend = {
    info: 'start the node with --api-info-enabled=true, or leave out what needs it (datasets.node_identity.enabled: false and the like)',
    health: 'start the node with --api-health-enabled=true, or set datasets.node_health.enabled to false',
    platform: `correct ${node.setting}: every node offers the P-chain, but a proxy before it may let only some paths through`,
  }[name];
  return [{ check: node.name, ok: false, found, ...(mend === undefined ? {} : { mend }) }];
}

function resultOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null
    ? Object.entries(body).find(([key]) => key === name)?.[1]
    : undefined;
}
