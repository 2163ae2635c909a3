import { sqlStateOf } from './sql-state.ts';

/** Returns whether a statement failed because a row with the same unique key exists. */
export const isUniqueViolation = (error: unknown): boolean => sqlStateOf(error) === '23505';
