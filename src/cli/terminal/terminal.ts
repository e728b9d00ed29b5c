/** A terminal that a command takes over as a whole. */
import type { ScreenSize } from "./frame.ts";

export interface TerminalListener {
  onInput(bytes: Uint8Array): void;
  /** The size has changed, or the program goes on after a stop: the screen must be drawn anew. */
  onResize(): void;
  /** The user's terminal is gone. */
  onClosed(): void;
}

export interface FullScreen {
  readonly size: ScreenSize;
  /** Shows a screen of its own and takes each key press. */
  enter(listener: TerminalListener): void;
  /** Shows what was there before. Does nothing the second time. */
  leave(): void;
  /** Resolves when the terminal takes more. */
  write(text: string): Promise<void>;
  /** Stops the program as Ctrl-Z does elsewhere; `fg` continues it. */
  suspend(): void;
}
