import type { ParsedTransaction } from './parse.ts';

const LAMPORTS_PER_SIGNATURE = 5000n;

const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
/** Programs of the runtime itself: an instruction of theirs counts for little (SIMD-0170). */
const BUILTINS = new Set([
  COMPUTE_BUDGET,
  '11111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
]);
const PRECOMPILES = new Set([
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111',
]);
const MOST_UNITS = 1_400_000n;

/** The fee of a transaction, lamports: per signature, plus the priority that it bids for. */
export function feeOf(message: Pick<ParsedTransaction, 'header' | 'accountKeys' | 'instructions'>): bigint {
  let signatures = BigInt(message.header.numRequiredSignatures);
  let defaultUnits = 0n;
  let units: bigint | undefined;
  let microLamportsPerUnit = 0n;
  for (const { programIdIndex, data } of message.instructions) {
    const program = message.accountKeys[programIdIndex] ?? '';
    if (PRECOMPILES.has(program)) signatures += BigInt(data[0] ?? 0);
    else defaultUnits += BUILTINS.has(program) ? 3_000n : 200_000n;
    if (program !== COMPUTE_BUDGET) continue;
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    if (data[0] === 2 && data.length >= 5) units = BigInt(view.getUint32(1, true));
    if (data[0] === 3 && data.length >= 9) microLamportsPerUnit = view.getBigUint64(1, true);
  }
  const wanted = units ?? defaultUnits;
  const limit = wanted < MOST_UNITS ? wanted : MOST_UNITS;
  return signatures * LAMPORTS_PER_SIGNATURE + (limit * microLamportsPerUnit + 999_999n) / 1_000_000n;
}
