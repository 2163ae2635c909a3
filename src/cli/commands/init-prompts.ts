import { createInterface } from 'node:readline/promises';
import { tell } from '../../lib/print.ts';
import { type Answers, NO_ANSWERS, presetOf, wrongWith } from './init-answers.ts';

/** In the order in which they are asked. */
const QUESTIONS: Readonly<Record<keyof Answers, string>> = {
  network: 'Network (mainnet, fuji or sandbox)',
  chainData: 'URL of the chain data service',
  metrics: 'URL of the metrics service',
  nodes: 'URLs of your nodes, such as http://10.0.0.11:9650',
  chains: 'Chains whose metrics are recorded, by id',
  nodeIds: 'Validators to watch (NodeID-…)',
  addresses: 'Addresses to watch (P-avax1…, X-avax1…)',
};
const NAMES = ['network', 'chainData', 'metrics', 'nodes', 'chains', 'nodeIds', 'addresses'] as const;
/** What has one answer. The others are lists. */
const SINGLE: readonly (keyof Answers)[] = ['network', 'chainData', 'metrics'];

/**
 * Asks on the terminal for what the options leave out. A wrong answer is told why, and asked for again.
 * @param said what the options say
 * @returns null when the user ends it, by Ctrl-C or Ctrl-D
 */
export async function askedAnswers(said: Partial<Answers>, signal: AbortSignal): Promise<Answers | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const left = new AbortController();
  terminal.once('close', () => left.abort());
  const either = AbortSignal.any([signal, left.signal]);
  const ask = async (name: keyof Answers, preset: readonly string[]) => {
    const question = `${QUESTIONS[name]} [${preset.join(' ') || 'none'}] `;
    const text = (await terminal.question(question, { signal: either })).trim();
    if (text === '-') return [];
    if (text === '') return preset;
    return SINGLE.includes(name) ? [text] : text.split(/[\s,]+/).filter(Boolean);
  };
  let answers = NO_ANSWERS;
  /** What holds of the answers with this one; null: it is wrong, and was told why. */
  const taken = (name: keyof Answers, answer: readonly string[]) => {
    const all = { ...answers, [name]: answer };
    const problems = wrongWith(name, all);
    for (const problem of problems) tell(problem);
    return problems.length === 0 ? all : null;
  };
  try {
    tell('Press Enter to accept the value in brackets, - for none, Ctrl-C to cancel.');
    for (const name of NAMES) {
      // Only the metrics service is asked about chains.
      const needless = name === 'chains' && answers.metrics.length === 0;
      const preset = presetOf(name, answers.network[0] ?? '');
      let all = said[name] || needless ? { ...answers, [name]: said[name] ?? [] } : null;
      while (all === null) all = taken(name, await ask(name, preset));
      answers = all;
    }
    return answers;
  } catch (error) {
    if (!either.aborted) throw error;
    return null;
  } finally {
    terminal.close();
  }
}
