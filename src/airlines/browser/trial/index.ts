export { changedReadings, examineRecipe } from './doctor.ts';
export { FIELD_ROLES, frameSelector, hidden, mayPay, PAYS, readNames } from './names.ts';
export { inventedTravellers, type Kept, type Trial, type TrialPage, tryRecipe } from './trial.ts';
export { recipeToTry } from './unfinished.ts';
