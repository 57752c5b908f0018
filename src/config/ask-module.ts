// A module is asked what follows from options. Code of others: one that throws has said nothing, and the file loads.

export function askModule<T>(ask: () => T): T | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}
