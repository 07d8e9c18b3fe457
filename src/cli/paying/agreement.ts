import { existsSync } from 'node:fs';
import { type Agreement, disagreements } from '../../client/base/index.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { Intent } from '../../wire/flights/index.ts';
import type { Session } from '../session/index.ts';

type Standing = Awaited<ReturnType<typeof standingOf>>;

/**
 * This home's knowledge of an intent: whether it created it, and a sentence for each difference from what was agreed here.
 * @param named the refund wallet that the person has named; null: none
 * @param pays true when this command pays, so that a key on standard input is read
 */
export async function standingOf(session: Session, intent: Intent, named: string | null = null, pays = false) {
  const { baseUrl, ...agreement } = await agreementOf(session, intent.intent_id, named, pays);
  return { ...agreement, isFromHere: baseUrl === session.baseUrl, disagreements: disagreements(intent, agreement) };
}

/** The agreement of this home about an intent, and the service it is with; null: it did not create it. */
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

/** True when this home created an intent and would pay it as it is: only then it is offered as the person's own. */
export const isOwn = ({ isFromHere, disagreements: differs }: Standing): boolean => isFromHere && differs.length === 0;

/** The address of the paying wallet; null without one, or where it can't be read just to look. */
async function walletOf({ keypairFile, wallet }: Session, pays: boolean): Promise<string | null> {
  if (keypairFile === '-' ? !pays : !existsSync(keypairFile)) return null;
  try {
    return (await wallet()).address;
  } catch (error) {
    if (isProblem(error, 'keypair_unreadable', 'no_wallet')) return null;
    throw error;
  }
}

/** Words for an intent of someone else, or of another home of the same person. */
export const NOT_FROM_HERE = 'It was not created on this machine, and its support code is with its creator';
