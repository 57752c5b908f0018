// Asks a module what follows from options. It may be code of a third party: when it throws, the file still loads.

export function askModule<T>(ask: () => T): T | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}
