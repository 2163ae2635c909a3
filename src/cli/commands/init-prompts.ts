import { createInterface } from 'node:readline/promises';
import { printNotice } from '../../lib/print.ts';
import { type Answers, getDefaultAnswer, NO_ANSWERS, validateAnswer } from './init-answers.ts';

/** Questions, in the order of the prompts. */
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
/** Questions with a single answer; the answers to the others are lists. */
const SINGLE_ANSWERS: readonly (keyof Answers)[] = ['network', 'chainData', 'metrics'];

/**
 * Prompts for the answers that the options omit. After an invalid answer, prints the reason and prompts
 * again.
 * @param said answers from the options
 * @param findNodeIds returns the node ids of the nodes in the answers; they are the default of the validators
 * @returns null if the user cancels with Ctrl-C or Ctrl-D
 */
export async function promptAnswers(
  said: Partial<Answers>,
  findNodeIds: (answers: Answers) => Promise<readonly string[]>,
  signal: AbortSignal,
): Promise<Answers | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const left = new AbortController();
  terminal.once('close', () => left.abort());
  const either = AbortSignal.any([signal, left.signal]);
  const ask = async (name: keyof Answers, preset: readonly string[]) => {
    const question = `${QUESTIONS[name]} [${preset.join(' ') || 'none'}] `;
    const text = (await terminal.question(question, { signal: either })).trim();
    if (text === '-') return [];
    if (text === '') return preset;
    return SINGLE_ANSWERS.includes(name) ? [text] : text.split(/[\s,]+/).filter(Boolean);
  };
  let answers = NO_ANSWERS;
  /** Returns the answers with this one. Prints the problems and returns null if it is invalid. */
  const taken = (name: keyof Answers, answer: readonly string[]) => {
    const all = { ...answers, [name]: answer };
    const problems = validateAnswer(name, all);
    for (const problem of problems) printNotice(problem);
    return problems.length === 0 ? all : null;
  };
  try {
    printNotice('Press Enter to accept the value in brackets, - for none, Ctrl-C to cancel.');
    for (const name of NAMES) {
      // Chains are only used for the metrics service.
      const needless = name === 'chains' && answers.metrics.length === 0;
      const isOffered = name === 'nodeIds' && !said.nodeIds && answers.nodes.length > 0;
      const preset = isOffered
        ? await findNodeIds(answers)
        : getDefaultAnswer(name, answers.network[0] ?? '');
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
