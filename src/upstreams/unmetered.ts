import type { Budget } from './budget.ts';

/** A node of one's own: nobody counts its calls. */
export const unmetered: Budget = {
  take: async () => {},
  block: async () => {},
  learn: async () => {},
};
