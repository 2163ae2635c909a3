import type { StalledLedger } from '../../../reporting/reports/nodes/watched-nodes.ts';
import { ErrorNotice } from '../parts/problem.tsx';
import { momentText } from '../texts.ts';

/** The warning that ledgers are stalled; empty if no ledger is stalled. */
export function StalledLedgersWarning({ ledgers }: { readonly ledgers: readonly StalledLedger[] }) {
  if (ledgers.length === 0) return null;
  return (
    <ErrorNotice
      what="The uptime ledger is stalled: later states are unknown."
      details={ledgers.map(
        ({ subject, since, reason }) =>
          `${subject}${since ? `, since ${momentText(since)} UTC` : ''}: ${reason}`,
      )}
    />
  );
}
