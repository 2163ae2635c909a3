import { z } from 'zod';

/** A step of an executed plan. */
export interface Step {
  readonly kind: string;
  readonly index: string | undefined;
  readonly table: string | undefined;
  /** Rows that it returned and rows that it dropped. */
  readonly rows: number;
}
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string | undefined;
  readonly 'Relation Name'?: string | undefined;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number | undefined;
  readonly 'Rows Removed by Join Filter'?: number | undefined;
  readonly 'Rows Removed by Index Recheck'?: number | undefined;
  readonly Plans?: readonly PlanNode[] | undefined;
}
const planNode: z.ZodType<PlanNode> = z.lazy(() =>
  z.object({
    'Node Type': z.string(),
    'Index Name': z.string().optional(),
    'Relation Name': z.string().optional(),
    'Actual Rows': z.number(),
    'Actual Loops': z.number(),
    'Rows Removed by Filter': z.number().optional(),
    'Rows Removed by Join Filter': z.number().optional(),
    'Rows Removed by Index Recheck': z.number().optional(),
    Plans: z.array(planNode).optional(),
  }),
);
const carriedOut = z.object({ Plan: planNode });

/** Returns the steps of a plan of PostgreSQL: `explain (analyze, format json)`, or auto_explain. */
export function stepsIn(plan: unknown): Step[] {
  const steps = (node: PlanNode): Step[] => {
    const dropped = (['Filter', 'Join Filter', 'Index Recheck'] as const).reduce(
      (sum, why) => sum + (node[`Rows Removed by ${why}`] ?? 0),
      0,
    );
    const rows = (node['Actual Rows'] + dropped) * node['Actual Loops'];
    return [
      { kind: node['Node Type'], index: node['Index Name'], table: node['Relation Name'], rows },
      ...(node.Plans ?? []).flatMap(steps),
    ];
  };
  return steps(carriedOut.parse(plan).Plan);
}

/** Returns the rows of the step with most of them. */
export const maxRows = (steps: readonly Step[]): number => Math.max(...steps.map(({ rows }) => rows));
