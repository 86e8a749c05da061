/**
 * A short tone when the person is asked something; off until it is turned on.
 * @module
 */

const TONE_HZ = 660;
const LENGTH_S = 0.12;
const LOUDNESS = 0.08;

/** @type {AudioContext | null} */
let context = null;

/** Plays the tone. */
export function chime() {
  context ??= new AudioContext();
  const tone = context.createOscillator();
  const volume = context.createGain();
  tone.frequency.value = TONE_HZ;
  volume.gain.setValueAtTime(LOUDNESS, context.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + LENGTH_S);
  tone.connect(volume).connect(context.destination);
  tone.start();
  tone.stop(context.currentTime + LENGTH_S);
}
