import { record, recordingOf } from './recording.mjs';
import { inFreshHome, TRAVELLER } from './sandbox.mjs';

const ENTER = '\r';
const DOWN = '\x1b[B';

/** The guided walk: a return flight for two saved travellers, with a bag, from the first question to the booking. */
export const guided = () =>
  inFreshHome(
    async ({ run, open }) => {
      run(['travellers', 'add', 'ana', '-'], JSON.stringify(TRAVELLER));
      run(['travellers', 'add', 'ben', '-'], JSON.stringify(BEN));
      const terminal = open({ columns: 96, rows: 34 });
      const command = await terminal.start('farelock');
      const tape = record(terminal, command);
      const answer = async (question, typed, ms = 500) => {
        await tape.shows(question, ms);
        await tape.type(typed);
        tape.press(ENTER);
      };
      tape.caption('Where and when');
      await answer(/From: a city/, 'lisbon', 1000);
      await answer(/To: a city/, 'berlin');
      await answer(/Depart, such as/, '+30d');
      await answer(/Return: a date/, '+37d');
      await answer(/Travellers, 1 to 9/, '2');
      await answer(/Search LIS → BER\?/, '', 1200);
      tape.caption('Every flight on one time scale');
      await tape.shows(/Which flight\?[\s\S]*Ctrl-C/, 2200);
      tape.caption('b: with a bag');
      tape.press('b');
      await tape.shows(/with a bag: on/, 1500);
      tape.caption('/: search');
      await tape.type('/lorelei');
      await tape.shows(/Search: lorelei/, 900);
      tape.press(ENTER);
      await tape.shows(/search: lorelei/, 1200);
      tape.press(ENTER);
      tape.caption('The fare, and what it allows');
      await answer(/Which fare\?/, '', 2000);
      await answer(/Lock this fare/, '', 2000);
      tape.caption('Who flies');
      await answer(/Passenger 1.*\?/, '', 900);
      await answer(/Passenger 2.*\?/, '', 900);
      tape.caption('What is paid, for what, and where it goes');
      await answer(/Pay [\d.,]+ USDC into the escrow and book\?/, '', 3500);
      tape.caption('Booked');
      await tape.shows(/Show the airline order\?/, 3000);
      await tape.type(DOWN);
      tape.press(ENTER);
      const exitCode = await command.ended;
      if (exitCode !== 0) throw new Error(`the walk ended with ${exitCode}:\n${terminal.text()}`);
      await tape.shows(/ booked/, 0);
      return recordingOf(
        terminal,
        tape.screens,
        'The guided walk in a terminal: a return flight from Lisbon to Berlin for two, with a bag, is searched, chosen, paid into an escrow and booked',
      );
    },
    { FARELOCK_TICKETING_MS: '1500' },
  );

const BEN = {
  given_name: 'Ben',
  family_name: 'Okafor',
  born_on: '1988-11-02',
  title: 'mr',
  gender: 'm',
  email: 'ben@example.com',
  phone_number: '+447911123456',
};
