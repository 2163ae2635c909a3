import type { StandingLedger } from '../../../reporting/reports/nodes/watched-nodes.ts';
import { Problem } from '../parts/problem.tsx';
import { momentText } from '../texts.ts';

/** That a ledger is stalled, before anything that it says is read. */
export function Standing({ ledgers }: { readonly ledgers: readonly StandingLedger[] }) {
  if (ledgers.length === 0) return null;
  return (
    <Problem
      what="The record is stalled: what comes after it is not known."
      details={ledgers.map(
        ({ subject, since, reason }) =>
          `${subject}${since ? `, since ${momentText(since)} UTC` : ''}: ${reason}`,
      )}
    />
  );
}
