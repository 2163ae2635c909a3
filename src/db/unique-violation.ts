import { sqlStateOf } from './sql-state.ts';

/** Whether a statement failed because a row of the same unique key stands already. */
export const isUniqueViolation = (error: unknown): boolean => sqlStateOf(error) === '23505';
