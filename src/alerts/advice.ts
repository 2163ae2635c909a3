/**
 * Advice for an alert of each default rule, at most two lines of a message. docs/how-to/runbook.md contains the whole
 * runbook.
 */
const ADVICE: Readonly<Record<string, string>> = {
  'node-down':
    'Check the process, the machine and the network of the node. If the outage is planned, run: chain-recorder maintenance announce --node NAME --to TIME',
  'node-unobserved':
    'Run "chain-recorder doctor": it names the status or code that keeps the recorder from reading the node. Until then the time counts as unknown.',
  'node-flapping':
    'Check memory, disk and packet loss of the node. reporting.node_states has the times, reporting.node_latency the response times.',
  'source-changed':
    'Compare the node ids and the network at the configured URLs, and correct upstreams.nodes in recorder.yaml. Until then nothing is recorded under the wrong name.',
  'ledger-stalled':
    'Check that a process with the role worker runs: "chain-recorder status". Time without a ledger stays unknown for good.',
  'recording-stalled': 'Run "chain-recorder doctor": it says which part is stalled, why, and how to fix it.',
  'dataset-late':
    'Check the upstream, its key and its budget: "chain-recorder doctor". What can be fetched later is healed by itself.',
  'dataset-incomplete':
    'Check "chain-recorder quarantine", and "chain-recorder status" for methods that the node does not offer.',
  'list-unconfirmed':
    'If the members are really gone, do nothing: the next observations confirm it. If the upstream is wrong, report it to its operator.',
  'quarantine-growing':
    'Run "chain-recorder quarantine list". After an upgrade "chain-recorder quarantine redrive" decodes the items again.',
  'gap-open': 'Run "chain-recorder heal DATASET": it shows why the range cannot be fetched.',
  'gap-permanent':
    'The range cannot be fetched any more. reporting.gaps has the reason: the recorder was off, or the upstream dropped the data.',
  'index-stalled':
    'Nothing to fix here: what the index shows late is recorded when it appears. Check the status page of the service.',
  'budget-nearly-spent':
    'Run "chain-recorder plan": it shows which schedules need the most units. Poll them less often or raise the limit.',
  'disk-full': 'Make room or move the directory: a full disk stops all recording.',
  'validation-ending':
    'Plan the next validation: the current one cannot be extended. Run: chain-recorder report stake-expiring',
  'reward-at-risk': 'Stabilise the node, and postpone maintenance that can wait.',
  'l1-balance-low':
    'Top up the balance: a validator without balance is inactive. Run: chain-recorder report l1-runway',
  discrepancy:
    'Compare both values: "chain-recorder report discrepancies". Do not rely on the numbers until the cause is known.',
  'series-break':
    'Check whether the service counts differently since that day. Comparisons across the day are unreliable.',
  'export-failing': 'Run "chain-recorder doctor": it tries the destination, its keys, rights and space.',
  'replica-behind':
    'Check the load and network of the replica and long statements there. To read the primary, unset REPORTING_DATABASE_URL and restart.',
  'alerting-failing':
    'Run "chain-recorder alerts test CHANNEL" for the channel, or read the error of the rule in "chain-recorder status".',
};

/** Returns the advice for an alert of a rule. For a rule of the configuration, the advice is its query. */
export const getAdvice = (rule: string): string =>
  ADVICE[rule] ?? `Check the query of the rule "${rule}" in recorder.yaml.`;
