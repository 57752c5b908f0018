// Whether a URL is on this machine or network, as far as it tells: such an agent needs `allow_private`.

const OWN =
  /^(localhost|127\..*|10\..*|192\.168\..*|172\.(1[6-9]|2\d|3[01])\..*|\[(::1|f[cd].*)\]|.*\.(local|internal|localhost))$/

export function isOwnAddress(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname, protocol } = new URL(url)
  return OWN.test(hostname) || (protocol === 'http:' && !hostname.includes('.'))
}
