// Makes a unique id. crypto.randomUUID is absent on plain http from another machine; getRandomValues is present.
export function freshId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
