export { needBrowser } from './chromium.ts';
export * from './read.ts';
export { privateWords, redacted, showRedacted } from './redact.ts';
export { click, free, isClicked, isPressed, passengerValues, runSteps, untickAll, walkOf } from './steps.ts';
export { openVisit, type Visit, type Watcher } from './visit.ts';
export { BrowserGone, isSeen, locate, Misfit, pause, Stopped, shown, until, type Walk, wordsOf } from './walk.ts';
