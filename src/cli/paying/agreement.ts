import { existsSync } from 'node:fs';
import { type Agreement, disagreements } from '../../client/base/index.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { Intent } from '../../wire/flights/index.ts';
import type { Session } from '../session/index.ts';

type Standing = Awaited<ReturnType<typeof standingOf>>;

/**
 * Compares an intent with what was agreed to here: whether this home created it, and a sentence for each difference.
 * @param named the refund wallet that the person has named, or null
 * @param pays true if this command pays, so that a key on standard input is read
 */
export async function standingOf(session: Session, intent: Intent, named: string | null = null, pays = false) {
  const { baseUrl, ...agreement } = await agreementOf(session, intent.intent_id, named, pays);
  return { ...agreement, isFromHere: baseUrl === session.baseUrl, disagreements: disagreements(intent, agreement) };
}

/** The agreement of this home about an intent; without terms and address if it was created elsewhere. */
export async function agreementOf(
  session: Session,
  intentId: string,
  named: string | null,
  pays = false,
): Promise<Agreement & { readonly baseUrl: string | null }> {
  const remembered = await (await session.store()).intent(intentId);
  return {
    wallet: await walletOf(session, pays),
    terms: remembered?.terms ?? null,
    named,
    baseUrl: remembered?.baseUrl ?? null,
  };
}

/** True if this home created the intent and no term has changed: only then is it offered as one's own. */
export const isOwn = ({ isFromHere, disagreements: differs }: Standing): boolean => isFromHere && differs.length === 0;

/** The address of the paying wallet; null if there is none, or if it cannot be read merely to look at it. */
async function walletOf({ keypairFile, wallet }: Session, pays: boolean): Promise<string | null> {
  if (keypairFile === '-' ? !pays : !existsSync(keypairFile)) return null;
  try {
    return (await wallet()).address;
  } catch (error) {
    if (isProblem(error, 'keypair_unreadable', 'no_wallet')) return null;
    throw error;
  }
}

/** For an intent of somebody else, or of another home of the same person. */
export const NOT_FROM_HERE = 'It was not created on this machine, and its support code is with its creator';
