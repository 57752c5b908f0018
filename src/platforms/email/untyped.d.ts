// The parts of libraries without types that are used here.
declare module 'html-to-text' {
  export function compile(options: object): (html: string) => string
}
declare module 'mailauth/lib/dkim/verify.js' {
  export function dkimVerify(
    raw: Buffer,
    options: { resolver: (name: string, type: string) => Promise<string[][]>; maxSigs?: number },
  ): Promise<{ results?: readonly object[] }>
}
