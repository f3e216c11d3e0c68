#!/bin/busybox sh
# First program of a virtual machine: loads the drivers, then leaves for the root by its label.
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sysfs /sys
$b mount -t devtmpfs dev /dev
read -r up _ </proc/uptime
echo "sizebook: kernel $up"
while read -r module; do
  $b insmod "/modules/$module" || echo "sizebook: no module $module"
done </modules/order
for word in $($b cat /proc/cmdline); do
  case $word in sizebook.root=*) root=${word#*=} ;; esac
done
if [ -n "$root" ]; then
  tries=0
  while ! disk=$($b findfs "LABEL=$root") && [ $tries -lt 200 ]; do
    $b sleep 0.05
    tries=$((tries + 1))
  done
  if $b mount -t ext4 -o ro "$disk" /new; then
    for folder in proc sys dev; do $b mount -o move /$folder /new/$folder; done
    exec $b switch_root /new /sbin/sizebook-init
  fi
  echo "sizebook: no root $root"
fi
$b poweroff -f
