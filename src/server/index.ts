// The only listener: endpoints of platforms, admin API, health, web files.
export { createServer } from './create-server.ts'
export { probeProxies } from './probe-proxies.ts'
