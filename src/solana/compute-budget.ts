import type { Address, Instruction } from '@solana/kit';

const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111' as Address;
const SET_LIMIT = 2;
const SET_PRICE = 3;

/** Says how many compute units a transaction may use, and bids for each (micro-lamports). */
export function computeBudget(units: number, microLamportsPerUnit: bigint): Instruction[] {
  const limit = Buffer.alloc(5);
  limit.writeUInt8(SET_LIMIT);
  limit.writeUInt32LE(units, 1);
  const price = Buffer.alloc(9);
  price.writeUInt8(SET_PRICE);
  price.writeBigUInt64LE(microLamportsPerUnit, 1);
  return [limit, price].map((data) => ({ programAddress: COMPUTE_BUDGET_PROGRAM, data }));
}
