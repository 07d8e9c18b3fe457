import type { StepLine } from '../screen/streams.ts';
import type { Screen } from '../screen/terminal.ts';
import { compact } from '../searching/quoting.ts';
import { fareMenuLines } from '../view/flights/fare-menu.ts';
import { fareFamilies, money } from '../view/flights/fares.ts';
import { listParts } from '../view/flights/search.ts';
import { isMenuOffer, offerCommand, quoted } from '../view/payment.ts';
import { harmlessDocument } from '../view/text.ts';
import { fromTo } from '../view/times.ts';
import { lockCommand } from './commands.ts';
import { isTurnedDown, sayProblem } from './find.ts';
import { paidCall } from './money.ts';
import { type Found, type Step, said, type Walk } from './walk.ts';

/** The screen inside a choice: its mark and a space stand before each line. */
const insideOf = ({ context: { terminal } }: Walk): Screen => ({
  paint: terminal.asideScreen.paint,
  width: terminal.asideScreen.width - 3,
});

/** The table of the search, an itinerary a line. */
export const chooseItinerary: Step = async (walk) => {
  const { trip } = walk;
  const { list, title } = foundOf(walk);
  const document = harmlessDocument(compact(list));
  const drawn = () => {
    const { above, heading, itineraries } = listParts(document, title, insideOf(walk));
    return {
      heading: [...above, '', heading],
      lines: itineraries.map((lines, index) => ({ name: lines.join('\n'), value: index })),
    };
  };
  const answer = await walk.ask.choose({
    message: 'Which flight?',
    ...drawn(),
    redrawn: drawn,
    preset: trip.position,
  });
  // Who answers has seen the list: the same search once more is one of its own.
  await walk.context.session.paidHere.shown();
  if (answer.kind === 'back') return 'back';
  const offer = list.offers[answer.value];
  if (!offer) return 'back';
  trip.position = answer.value;
  trip.offer = offer;
  trip.offerId = null;
  const times = offer.slices.map((slice) => fromTo(slice.departing_at, slice.arriving_at)).join(' · ');
  said(walk, 'Flight', `${answer.value + 1}.  ${times}  ${offer.owner_name}`, offerCommand(offer.offer_id));
  return 'fare';
};

/** The fares of the itinerary unfold: as they stand under it in the table of the search. */
export const chooseFare: Step = async (walk) => {
  const { trip } = walk;
  const { list, title } = foundOf(walk);
  const offer = trip.offer;
  if (!offer) return 'back';
  const { fares } = fareFamilies(offer);
  const document = harmlessDocument(list);
  const drawn = () => {
    const { heading, itineraries } = listParts(document, title, insideOf(walk));
    return { heading: [heading], lines: fareLines(itineraries[trip.position] ?? [], fares) };
  };
  const answer = await walk.ask.choose({ message: 'Which fare?', ...drawn(), redrawn: drawn });
  if (answer.kind === 'back') return 'back';
  const fare = fares.find(({ offerId }) => offerId === answer.value);
  const price = fare ? `${fare.brand ?? 'fare'}  ${money(fare.price)} ${fare.currency}  ${fare.seller}` : '';
  if (isMenuOffer(answer.value)) {
    const chosen = await chooseFromMenu(walk, answer.value, price);
    if (chosen === null) return 'fare';
    trip.offerId = chosen;
  } else {
    trip.offerId = answer.value;
    said(walk, 'Fare', price, lockCommand(answer.value));
  }
  return 'lock';
};

/** A line for each fare; what follows the last one (the way back, dearer sellers) is only shown. */
function fareLines(lines: readonly string[], fares: readonly { offerId: string }[]): StepLine<string>[] {
  return lines.map((name, index) => {
    const fare = fares[index];
    return fare ? { name, value: fare.offerId } : { name };
  });
}

/** The fare menu of a lowcost carrier: looked up, and paid for, when the person asks for it. */
async function chooseFromMenu(walk: Walk, offerId: string, price: string): Promise<string | null> {
  const { context, ask } = walk;
  const { session, signal, terminal, clock } = context;
  const open = await ask.choose({
    message: 'A lowcost flight: its fares are looked up now. That costs 0.10 USDC when they are found.',
    lines: [
      { name: 'Look them up', value: true },
      { name: 'Another fare', value: false },
    ],
  });
  if (open.kind === 'back' || !open.value) return null;
  const flights = await session.flights();
  try {
    const { value } = await paidCall(walk, 'the fare menu', () =>
      flights.offerDetails(offerId, { signal, onPhase: () => terminal.phase('Opening the fare menu') }),
    );
    terminal.settle();
    said(walk, 'Fare', price, `farelock offer ${quoted(offerId)}`);
    const menu = value.fare_menu;
    if (menu?.status !== 'ready' || menu.fares.length === 0) {
      terminal.note('Its fares could not be looked up now.');
      return null;
    }
    const numbers = await session.recentOffers.rememberMenu(value.offer, menu.fares);
    const document = harmlessDocument(menu);
    const drawn = () => {
      const [heading = '', ...rest] = fareMenuLines(document, numbers, clock.now(), insideOf(walk));
      return {
        heading: [heading],
        lines: rest.flatMap((name, index) => {
          const fare = menu.fares[index];
          if (fare) return [{ name, value: fare.offer_id }];
          return name === '' ? [] : [{ name }];
        }),
      };
    };
    const answer = await ask.choose<string>({
      message: 'Which fare of the menu?',
      ...drawn(),
      redrawn: drawn,
    });
    await session.paidHere.shown();
    if (answer.kind === 'back') return null;
    const fare = menu.fares.find((one) => one.offer_id === answer.value);
    const menuFare = `${fare?.fare_brand_name ?? 'fare'}  ${money(fare?.total_amount_decimal ?? '0')} ${fare?.total_currency}`;
    said(walk, 'Menu', menuFare, lockCommand(answer.value));
    return answer.value;
  } catch (error) {
    if (!isTurnedDown(error)) throw error;
    sayProblem(walk, error);
    return null;
  }
}

function foundOf({ trip }: Walk): Found {
  if (trip.found) return trip.found;
  throw new Error('nothing was searched');
}
