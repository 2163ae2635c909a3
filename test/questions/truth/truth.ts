import type { Values } from '../../../src/reporting/reports/saved-queries.ts';
import type { World } from '../world.ts';
import { balances } from './balances.ts';
import { income } from './income.ts';
import { l1s } from './l1s.ts';
import { metrics } from './metrics.ts';
import { mine } from './mine.ts';
import { nodes } from './nodes.ts';
import { type Answers, Question, type Row } from './question.ts';
import { record } from './record.ts';
import { stake } from './stake.ts';

const answers: Answers = {
  ...metrics,
  ...mine,
  ...stake,
  ...l1s,
  ...income,
  ...balances,
  ...nodes,
  ...record,
};

/**
 * Expected result of each query from the sandbox's model, without the recorder and its SQL: the model at the polls.
 * Columns that a result lacks here are not compared.
 * @returns the rows of a query by the name of its view or function; null: it has to be refused
 */
export function trueRows(world: World, question: string, values: Values): Row[] | null {
  const answer = answers[question];
  if (!answer) throw new Error(`nothing is known of ${question}`);
  return answer(new Question(world, values));
}
