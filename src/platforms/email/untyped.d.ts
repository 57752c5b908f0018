// Types for the used parts of untyped libraries.
declare module 'html-to-text' {
  export function compile(options: object): (html: string) => string
}
declare module 'mailauth/lib/dkim/verify.js' {
  export function dkimVerify(
    mail: import('node:stream').Readable,
    options: { resolver: (name: string, type: string) => Promise<string[][]> },
  ): Promise<{ results?: readonly object[] }>
}
