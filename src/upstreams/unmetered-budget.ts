import type { Budget } from './budget.ts';

/** Unlimited budget for own nodes. */
export const unmetered: Budget = {
  take: async () => {},
  block: async () => {},
  learn: async () => {},
};
