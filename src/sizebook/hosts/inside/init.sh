#!/bin/sh
# First program of a guest's own kernel: mounts what is missing, brings up the network as the file
# "boot" on the scratch disk says, and turns into the agent. The root is read-only.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin

stop() { echo "sizebook: $*" >/dev/console; sleep 1; poweroff -f; }
up() { cut -d' ' -f1 /proc/uptime; }

[ -e /proc/uptime ] || mount -t proc proc /proc
echo "sizebook: init $(up)" >/dev/console
[ -e /sys/class ] || mount -t sysfs sysfs /sys
[ -c /dev/null ] || mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t devpts pts /dev/pts
# What the image has in /tmp, such as a project that is there, stays to be seen.
mount -t tmpfs -o mode=1777 tmp /mnt
for path in /tmp/*; do
  [ ! -d "$path" ] || { mkdir "/mnt/${path##*/}" && mount -o bind "$path" "/mnt/${path##*/}"; }
done
mount -o move /mnt /tmp
mount -t tmpfs -o mode=755 run /run
mount -t tmpfs -o mode=1777 tmp /var/tmp
hostname sizebook

scratch=$(findfs LABEL=sizebook-scratch) || stop "no scratch disk"
# No zeroing of inode tables in the background: it would be measured.
mount -t ext4 -o noinit_itable "$scratch" /mnt || stop "cannot mount $scratch"
. /mnt/boot
# The disk belongs where the session's folder is on the machine outside.
if ! mkdir -p "$FOLDER" 2>/dev/null; then
  mount -t tmpfs -o mode=755 above "$(dirname "$FOLDER")" && mkdir "$FOLDER" ||
    stop "no place for $FOLDER"
fi
chmod 755 "$FOLDER"
mount -o move /mnt "$FOLDER" || stop "cannot mount $FOLDER"
rm -f "$FOLDER/boot"
rmdir "$FOLDER/lost+found"

for path in /sys/class/net/*; do
  name=${path##*/}
  [ "$name" = lo ] || [ ! -e "$path/device" ] || card=$name
done
[ -n "$card" ] || stop "no network card"
ip link set lo up
ip address add "$ADDRESS" dev "$card" && ip link set "$card" up || stop "no network on $card"

# Whoever waits for an answer has asked in vain who has this address, and asks again seldom.
arping -q -U -c 3 -I "$card" "${ADDRESS%/*}" &

ulimit -n "$OPEN_FILES"
cd /
export SIZEBOOK_TOKEN="$TOKEN"
echo "sizebook: agent $(up)" >/dev/console
exec "$PYTHON" -I -S "$AGENT" "$LISTEN" "$PORT" /bin/poweroff -f </dev/null >/dev/console 2>&1
